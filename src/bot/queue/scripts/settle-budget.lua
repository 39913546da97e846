-- Settles one budget of a turn outside its commit: on a cluster, where the budget is in another slot, and for a question that ended
-- without a commit. Safe to repeat (library/settle-budget.lua).
--
-- Keys       used
-- Arguments  turnId   budget: as JSON (library/settle-budget.lua)
settleBudget(cjson.decode(args.budget), args.turnId)
