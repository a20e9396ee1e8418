"""What the papers prove or predict: `frequency` (many users), `ranges`, `few_users`, and the table of all `statements`."""
