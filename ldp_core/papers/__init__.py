"""The figures and tables of the source papers, worked out anew beside what was printed."""
