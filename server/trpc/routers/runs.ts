import { router } from '../init'

export const runsRouter = router({})
