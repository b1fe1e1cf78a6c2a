"""Campaigns of faults: kills, malformed graphs, configurations, disks and damaged run folders (``make faults``)."""
