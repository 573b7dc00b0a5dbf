import type { Imported } from './[toolId]/import-dialog'

/** What the dialog for a new tool asks for. */
export interface NewTool {
  kind: 'script' | 'http' | 'mcp'
  name: string
  url: string
  toolName: string
  code: string
  /** An imported request; its URL is `url`. */
  imported?: Imported
}

export const FIRST_CODE = `// args: what the tool is called with. dataContext and context: extra data from the caller.
return { greeting: \`Hello, \${args.name}!\` }
`
