import { checkHealth } from '@/server/health'
import { methods, publicRoute } from '@/server/rest/route'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/health', {
  GET: publicRoute(async () => {
    const health = await checkHealth()
    return { status: health.status === 'unavailable' ? 503 : 200, body: health }
  }),
})
