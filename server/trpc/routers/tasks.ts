import { router } from '../init'

export const tasksRouter = router({})
