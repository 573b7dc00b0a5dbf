'use client'
// The test-case code that pages load on first use. One file, so that the browser's code gains one chunk instead of
// four: each chunk regroups the shared ones.
export { AgentCases } from '../agents/[agentId]/agent-cases'
export { KeepAgentCase } from '../agents/[agentId]/keep-agent-case'
export { ToolCases } from '../tools/[toolId]/tool-cases'
export { PublishCases } from './publish-cases'
