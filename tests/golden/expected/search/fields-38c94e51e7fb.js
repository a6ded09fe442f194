(self.SEARCH=self.SEARCH||[]).push(["fields","38c94e51e7fb",[["contains"],["is-json"],["not-contains"],["warmth"]]]);
