"""The machine: console, memory, mapped arrays, locks, atomic files, hashing."""
