import { isJsonObject } from '@/server/definition/json'
import { findReferences } from '@/server/definition/template'
import type { ToolForm } from './tool-form'

export interface UsedArgument {
  name: string
  /** Whether it is used somewhere without a value to fall back on. */
  required: boolean
}

/** The arguments that a tool's request or script uses: `${args.x}` in a request, `args.x` in a script. */
export function usedArguments({ kind, config }: Pick<ToolForm, 'kind' | 'config'>): UsedArgument[] {
  const { url = '', headers = {}, query = {}, body = null, code } = config
  const uses =
    kind === 'http'
      ? findReferences({ url, headers, query, body }).references.flatMap(({ reference: { root, path, fallback } }) =>
          root === 'args' && typeof path[0] === 'string' ? [{ name: path[0], required: !fallback }] : [],
        )
      : kind === 'script' && typeof code === 'string'
        ? usedInCode(code)
        : []
  const names = new Set(uses.map(({ name }) => name))
  return [...names].map((name) => ({ name, required: uses.some((use) => use.name === name && use.required) }))
}

const COMMENT_OR_TEXT = /\/\*[\s\S]*?\*\/|\/\/.*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`/g
/** With the operator after it, if that allows for a missing value. */
const ARGUMENT = /(?<![\w$.])args(?:\?\.|\.)([A-Za-z_$][\w$]*)(\s*(?:\?|\|\||=(?!=)))?/g

/** Regular expressions may hide a use, so this is a proposal and no proof. */
function usedInCode(code: string): UsedArgument[] {
  const plain = code.replace(COMMENT_OR_TEXT, (text) =>
    text.startsWith('`') ? (text.match(/\$\{[^}]*\}/g) ?? []).join(' ') : text.startsWith('/') ? ' ' : "''",
  )
  return Array.from(plain.matchAll(ARGUMENT), ([, name = '', optional]) => ({ name, required: optional === undefined }))
}

/** The arguments that a tool uses and its schema does not have. */
export function missingArguments(form: Pick<ToolForm, 'kind' | 'config' | 'inputSchema'>): UsedArgument[] {
  const properties = form.inputSchema?.properties
  return usedArguments(form).filter(({ name }) => !isJsonObject(properties) || !Object.hasOwn(properties, name))
}
