import { router } from '../init'

export const workflowsRouter = router({})
