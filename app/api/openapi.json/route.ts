import { OPENAPI } from '@/server/rest/typed-api'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = OPENAPI
