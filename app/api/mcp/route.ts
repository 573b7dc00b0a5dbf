import { MCP_ENDPOINTS } from '@/server/mcp/endpoints'
import { serve } from '@/server/rest/serve'

// Without sessions there is no stream to open (GET) and nothing to end (DELETE).
export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = serve(MCP_ENDPOINTS.mcp)

/** In seconds, on platforms that limit it. */
export const maxDuration = 300
