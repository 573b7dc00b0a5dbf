import { isJsonObject } from '@/server/definition/json'
import { findReferences } from '@/server/definition/template'
import type { ToolForm } from './tool-form'

/** The arguments that a tool's request or script uses: `${args.x}` in a request, `args.x` in a script. */
export function usedArguments({ kind, config }: Pick<ToolForm, 'kind' | 'config'>): string[] {
  const { url = '', headers = {}, query = {}, body = null, code } = config
  const names =
    kind === 'http'
      ? findReferences({ url, headers, query, body }).references.flatMap(({ reference: { root, path } }) =>
          root === 'args' && typeof path[0] === 'string' ? [path[0]] : [],
        )
      : kind === 'script' && typeof code === 'string'
        ? Array.from(code.matchAll(/(?<![\w$.])args(?:\?\.|\.)([A-Za-z_$][\w$]*)/g), ([, name]) => name ?? '')
        : []
  return [...new Set(names)]
}

/** The arguments that a tool uses and its schema does not have. */
export function missingArguments(form: Pick<ToolForm, 'kind' | 'config' | 'inputSchema'>): string[] {
  const properties = form.inputSchema?.properties
  return usedArguments(form).filter((name) => !isJsonObject(properties) || !Object.hasOwn(properties, name))
}
