(self.SEARCH=self.SEARCH||[]).push(["values","stickers",[["plant","evals/stickers/fields/plant.html",["Fern","Cactus"]],["water","evals/stickers/fields/water.html",["much","little"]]]]);
