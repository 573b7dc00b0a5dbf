import { methods } from '@/server/rest/route'
import { getOpenApi } from '@/server/rest/typed-api'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/openapi.json', {
  GET: getOpenApi,
})
