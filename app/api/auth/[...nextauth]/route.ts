import { handleAuth } from '@/server/auth/session'
import { methods } from '@/server/rest/route'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/auth/[...nextauth]', {
  GET: handleAuth,
  POST: handleAuth,
})
