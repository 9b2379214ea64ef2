"""The window of the best results, put into its final order."""
