import { router } from '../init'

export const stepsRouter = router({})
