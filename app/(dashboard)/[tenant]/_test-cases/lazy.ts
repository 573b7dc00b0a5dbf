'use client'
// Everything about test cases that pages load when it is first shown. One file, so that the browser's code has one part more
// and not four: each regroups the parts that all pages share.
export { AgentCases } from '../agents/[agentId]/agent-cases'
export { KeepAgentCase } from '../agents/[agentId]/keep-agent-case'
export { ToolCases } from '../tools/[toolId]/tool-cases'
export { PublishCases } from './publish-cases'
