import type { inferRouterOutputs } from '@trpc/server'
import type { AppRouter } from '@/server/trpc/root'

/** The result of each procedure as the browser receives it: `RouterOutput['runs']['list']`. */
export type RouterOutput = inferRouterOutputs<AppRouter>
