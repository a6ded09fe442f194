(self.SEARCH=self.SEARCH||[]).push(["fields","7fef242ef43c",[["hours"],["prices"]]]);
