import { methods, route } from '@/server/rest/route'
import { countSubjectData } from '@/server/subjects/count'
import { deleteSubjectData } from '@/server/subjects/delete'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/subjects/data', {
  GET: route(async ({ ctx, query }) => ({ body: await countSubjectData(ctx, query) })),
  DELETE: route(async ({ ctx, query }) => ({ body: await deleteSubjectData(ctx, query) })),
})

/** In seconds, on platforms that limit it. */
export const maxDuration = 60
