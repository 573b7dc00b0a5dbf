import { router } from '../init'

export const secretsRouter = router({})
