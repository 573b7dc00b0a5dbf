import type { inferRouterOutputs } from '@trpc/server'
import type { AppRouter } from '@/server/trpc/root'

/** What each procedure answers, as it arrives in the browser: `RouterOutput['runs']['list']`. */
export type RouterOutput = inferRouterOutputs<AppRouter>
