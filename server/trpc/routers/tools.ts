import { router } from '../init'

export const toolsRouter = router({})
