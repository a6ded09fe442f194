(self.SEARCH=self.SEARCH||[]).push(["fields","6d2a2046dd27",[["contains"],["not-contains"],["warmth"]]]);
