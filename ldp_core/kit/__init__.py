"""What leaves the app: devices that draw one person's report, and the kit that carries them into the world."""
