import { answer } from '../openapi/answer'
import { endpoint } from '../openapi/endpoint'
import { example } from '../openapi/example'
import { type VersionedApi, versionedEndpoints } from '../versioned/endpoints'
import * as answers from './answers'
import * as examples from './examples'
import { invokeTool } from './invoke'
import { McpServerConfig } from './kinds/mcp-config'
import { TOOLS } from './lifecycle'
import { listRemoteTools } from './list-remote'
import { CreateTool, InvokeTool, ListTools, UpdateTool } from './schema'

const id = { name: 'toolId', description: 'The tool.', example: examples.TOOL_ID }

const API: VersionedApi = {
  noun: 'tool',
  words: { one: 'tool', a: 'a tool', many: 'tools', whole: 'tool' },
  tag: 'Tools',
  path: '/api/tools',
  id,
  schemas: {
    item: answers.ToolItem,
    whole: answers.Tool,
    versionItem: answers.ToolVersionItem,
    version: answers.ToolVersion,
    create: CreateTool,
    update: UpdateTool,
    list: ListTools,
  },
  examples: {
    item: examples.toolItem,
    whole: examples.tool,
    versionItem: examples.toolVersionItem,
    version: examples.toolVersion,
    create: {
      script: example('A script', examples.createTool),
      fetch: example('A script that makes a request', examples.createFetchingTool),
    },
    update: { name: 'Add' },
  },
  descriptions: {
    list: 'Most recently changed first. `kind=builtin` lists the built-in tools.',
    create: 'Creates a draft: a script, an HTTP request, or a tool of an MCP server.',
    get: 'The latest saved version, including archived and built-in tools.',
    update: 'Saves the next version. Fields that the body leaves out keep their values.',
    archive: 'An archived tool cannot be called. Unarchive brings it back; archiving again changes nothing.',
    publish: 'Makes `published` mean this version.',
    listVersions: 'Newest first. Built-in tools have no versions.',
  },
  // `CONFLICT`: a built-in tool is shared by all tenants and cannot be changed.
  errors: {
    notFound: 'TOOL_NOT_FOUND',
    write: ['TOOL_NOT_FOUND', 'TOOL_ARCHIVED', 'VERSION_CONFLICT', 'CONFLICT'],
    archive: ['CONFLICT'],
  },
}

const invoke = endpoint({
  method: 'POST',
  path: '/api/tools/{toolId}/invoke',
  parameters: { toolId: id },
  tag: 'Tools',
  summary: 'Call a tool',
  description: 'If the tool itself fails, the response is 200 with `success: false`.',
  permission: 'tool:invoke',
  headers: ['Idempotency-Key'],
  body: {
    schema: InvokeTool,
    required: false,
    examples: { add: example('Add two numbers', { args: { a: 2, b: 3 } }) },
  },
  answers: {
    200: answer('What the tool returned, or how it failed.', answers.ToolResult, {
      result: example('The tool returned', { success: true, data: 5, debug: { executionTime: 4 } }),
      failure: example('The tool failed', { ...examples.failure, debug: { executionTime: 3 } }),
    }),
  },
  errors: ['TOOL_NOT_FOUND', 'TOOL_INVOCATION_FAILED'],
  limit: 'invokes',
  run: async ({ ctx, params, body, signal }) => ({
    body: await invokeTool(ctx, { toolId: params.toolId, body }, signal),
  }),
})

const { list, create, get, update, archive, unarchive, publish, listVersions, getVersion } = versionedEndpoints(
  API,
  TOOLS,
)

export const TOOL_ENDPOINTS = {
  invokeTool: invoke,
  listTools: list,
  createTool: create,
  getTool: get,
  updateTool: update,
  archiveTool: archive,
  unarchiveTool: unarchive,
  publishTool: publish,
  listToolVersions: listVersions,
  getToolVersion: getVersion,
  listRemoteTools: endpoint({
    method: 'POST',
    path: '/api/tools/mcp/list',
    tag: 'Tools',
    summary: 'List the tools of an MCP server',
    description:
      'Tools of kind `mcp` are made from these. If the server cannot be reached, the result has `success: false`.',
    permission: 'tool:write',
    body: {
      schema: McpServerConfig,
      required: true,
      examples: { server: example('A server', { url: 'https://mcp.example.com/mcp' }) },
    },
    answers: {
      200: answer('The tools, or why they could not be listed.', answers.RemoteTools, {
        tools: example('Its tools', examples.remoteTools),
        failure: example('The server cannot be reached', examples.unreachable),
      }),
    },
    errors: ['TOOL_INVOCATION_FAILED'],
    limit: 'invokes',
    run: async ({ ctx, body, signal }) => ({ body: await listRemoteTools(ctx, body, signal) }),
  }),
}
