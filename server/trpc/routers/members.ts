import { router } from '../init'

export const membersRouter = router({})
