import { router } from '../init'

export const vaultRouter = router({})
