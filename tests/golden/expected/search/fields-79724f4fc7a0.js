(self.SEARCH=self.SEARCH||[]).push(["fields","79724f4fc7a0",[["names <i>","names-i-79724f4fc7a04012238b1e5555adfbe7"]]]);
