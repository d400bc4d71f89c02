"""Files and tables in memory → columns of states, and where each row came from."""
