import type { JsonObject } from '../definition/json'
import { itemExample, stateExample, versionExample } from '../versioned/examples'

export const createTool = {
  name: 'Add',
  description: 'Adds two numbers.',
  kind: 'script',
  config: { code: 'return args.a + args.b' },
} satisfies JsonObject

/** A script that makes a request. */
export const createFetchingTool = {
  name: 'Exchange rate',
  kind: 'script',
  config: {
    code: 'const response = await fetch(`https://rates.example.com/latest?base=${args.base}`)\nreturn (await response.json()).rates',
    allowedHosts: ['rates.example.com'],
  },
} satisfies JsonObject

const { name, description, kind, config } = createTool
const said = { config, inputSchema: null, outputSchema: null } satisfies JsonObject

export const TOOL_ID = 'tool_add'
export const toolItem = { ...itemExample(TOOL_ID, { name, description }), kind } satisfies JsonObject
export const tool = { ...toolItem, ...said, ...stateExample } satisfies JsonObject
export const toolVersionItem = { ...versionExample(TOOL_ID, { name }), kind } satisfies JsonObject
export const toolVersion = { ...toolVersionItem, description, ...said } satisfies JsonObject

export const failure = {
  success: false,
  error: { message: 'This tool always fails.', details: [], code: 'EXECUTION_ERROR' },
} satisfies JsonObject

export const remoteTools = {
  success: true,
  data: {
    tools: [
      {
        name: 'search',
        title: 'Search',
        description: 'Searches the catalogue.',
        inputSchema: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
        outputSchema: null,
      },
    ],
  },
} satisfies JsonObject

export const unreachable = {
  success: false,
  error: { message: 'The MCP server could not be reached.', details: [], code: 'CONNECTION_ERROR' },
} satisfies JsonObject
