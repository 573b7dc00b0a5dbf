import { router } from '../init'

export const agentsRouter = router({})
