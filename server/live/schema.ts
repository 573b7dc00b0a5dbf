import '../definition/zod-words'
import { z } from 'zod'

/** Identifies a browser tab as long as its page is open. */
export const Tab = z.string().regex(/^\w{8,40}$/, 'is not the name of a tab')

export const FollowLive = z.object({ tab: Tab })
export type FollowLive = z.input<typeof FollowLive>
