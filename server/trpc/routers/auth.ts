import { router } from '../init'

export const authRouter = router({})
