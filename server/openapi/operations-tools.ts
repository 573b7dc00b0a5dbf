import { z } from 'zod'
import type { JsonValue } from '../definition/json'
import { McpServerConfig } from '../tools/kinds/mcp-config'
import { CreateTool, InvokeTool, ListTools, ListToolVersions, UpdateTool } from '../tools/schema'
import * as example from './examples-tools'
import { ToolResult } from './responses'
import * as answers from './responses-tools'
import type { Answer, Operation } from './types'

const named = (summary: string, value: JsonValue) => ({ summary, value })

const definition = (description: string, value: JsonValue): Answer => ({
  description,
  schema: answers.Tool,
  headers: ['ETag'],
  examples: { tool: named('The tool', value) },
})

/** `CONFLICT`: a built-in tool is everybody's and cannot be changed. */
const WRITE_ERRORS = ['TOOL_NOT_FOUND', 'TOOL_ARCHIVED', 'VERSION_CONFLICT', 'CONFLICT'] as const

const invokeTool: Operation = {
  id: 'invokeTool',
  method: 'POST',
  path: '/api/tools/{toolId}/invoke',
  tag: 'Tools',
  summary: 'Call a tool',
  description: 'A failure of the tool’s own logic is 200 with `success: false`.',
  role: 'operator',
  headers: ['Idempotency-Key'],
  body: {
    schema: InvokeTool,
    required: false,
    examples: { add: named('Add two numbers', { args: { a: 2, b: 3 } }) },
  },
  answers: {
    200: {
      description: 'What the tool returned, or how it failed.',
      schema: ToolResult,
      examples: {
        result: named('The tool returned', { success: true, data: 5, debug: { executionTime: 4 } }),
        failure: named('The tool failed', { ...example.failure, debug: { executionTime: 3 } }),
      },
    },
  },
  errors: ['TOOL_NOT_FOUND', 'TOOL_INVOCATION_FAILED'],
}

export const TOOL_OPERATIONS: Operation[] = [
  invokeTool,
  {
    id: 'listTools',
    method: 'GET',
    path: '/api/tools',
    tag: 'Tools',
    summary: 'List tools',
    description: 'The last changed first; built-in ones too.',
    role: 'viewer',
    query: ListTools,
    answers: {
      200: {
        description: 'The tools.',
        schema: z.array(answers.ToolItem),
        headers: ['X-Total-Count', 'Link'],
        examples: { list: named('One tool', [example.toolItem]) },
      },
    },
    errors: [],
  },
  {
    id: 'createTool',
    method: 'POST',
    path: '/api/tools',
    tag: 'Tools',
    summary: 'Create a tool',
    description: 'A new draft: a script, an HTTP request, or a tool of an MCP server.',
    role: 'editor',
    headers: ['Idempotency-Key'],
    body: {
      schema: CreateTool,
      required: true,
      examples: {
        script: named('A script', example.createTool),
        fetch: named('A script that calls out', example.createFetchingTool),
      },
    },
    answers: { 201: { ...definition('The new draft.', example.draftTool), headers: ['ETag', 'Location'] } },
    errors: [],
  },
  {
    id: 'getTool',
    method: 'GET',
    path: '/api/tools/{toolId}',
    tag: 'Tools',
    summary: 'Get a tool',
    description: 'As last saved. Archived and built-in ones too.',
    role: 'viewer',
    answers: { 200: definition('The tool.', example.tool) },
    errors: ['TOOL_NOT_FOUND'],
  },
  {
    id: 'updateTool',
    method: 'PUT',
    path: '/api/tools/{toolId}',
    tag: 'Tools',
    summary: 'Change a tool',
    description: 'Saves the next version. What the body does not name stays.',
    role: 'editor',
    headers: ['If-Match'],
    body: { schema: UpdateTool, required: true, examples: { name: named('Another name', { name: 'Add' }) } },
    answers: { 200: definition('The tool as saved.', example.tool) },
    errors: WRITE_ERRORS,
  },
  {
    id: 'archiveTool',
    method: 'DELETE',
    path: '/api/tools/{toolId}',
    tag: 'Tools',
    summary: 'Archive a tool',
    description: 'Nobody can call it any more. Can be undone; archiving again changes nothing.',
    role: 'editor',
    answers: { 200: definition('The archived tool.', { ...example.tool, status: 'archived' }) },
    errors: ['TOOL_NOT_FOUND', 'CONFLICT'],
  },
  {
    id: 'unarchiveTool',
    method: 'POST',
    path: '/api/tools/{toolId}/unarchive',
    tag: 'Tools',
    summary: 'Bring an archived tool back',
    description: 'As a draft. On one that is not archived it changes nothing.',
    role: 'editor',
    headers: ['Idempotency-Key'],
    answers: { 200: definition('The draft.', { ...example.tool, status: 'draft' }) },
    errors: ['TOOL_NOT_FOUND'],
  },
  {
    id: 'publishTool',
    method: 'POST',
    path: '/api/tools/{toolId}/publish',
    tag: 'Tools',
    summary: 'Publish the latest version',
    description: 'From now on `published` means it.',
    role: 'editor',
    headers: ['Idempotency-Key', 'If-Match'],
    answers: { 200: definition('The published tool.', example.tool) },
    errors: WRITE_ERRORS,
  },
  {
    id: 'listToolVersions',
    method: 'GET',
    path: '/api/tools/{toolId}/versions',
    tag: 'Tools',
    summary: 'List the versions',
    description: 'Newest first. Built-in tools have none.',
    role: 'viewer',
    query: ListToolVersions,
    answers: {
      200: {
        description: 'The versions.',
        schema: z.array(answers.ToolVersionItem),
        headers: ['X-Total-Count', 'Link'],
        examples: { list: named('One version', [example.toolVersionItem]) },
      },
    },
    errors: ['TOOL_NOT_FOUND'],
  },
  {
    id: 'getToolVersion',
    method: 'GET',
    path: '/api/tools/{toolId}/versions/{version}',
    tag: 'Tools',
    summary: 'Get a version',
    description: 'All that a version says. `version` is a number, `latest` or `published`.',
    role: 'viewer',
    answers: {
      200: {
        description: 'The version.',
        schema: answers.ToolVersion,
        headers: ['ETag'],
        examples: { version: named('A version', example.toolVersion) },
      },
    },
    errors: ['TOOL_NOT_FOUND'],
  },
  {
    id: 'listRemoteTools',
    method: 'POST',
    path: '/api/tools/mcp/list',
    tag: 'Tools',
    summary: 'List the tools of an MCP server',
    description: 'From which tools of the kind `mcp` are made. A server that cannot be reached is `success: false`.',
    role: 'editor',
    body: {
      schema: McpServerConfig,
      required: true,
      examples: { server: named('A server', { url: 'https://mcp.example.com/mcp' }) },
    },
    answers: {
      200: {
        description: 'The tools, or why there are none.',
        schema: answers.RemoteTools,
        examples: { failure: named('The server cannot be reached', example.unreachable) },
      },
    },
    errors: ['TOOL_INVOCATION_FAILED'],
  },
]
