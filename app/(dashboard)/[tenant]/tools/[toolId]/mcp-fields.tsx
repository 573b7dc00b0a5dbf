'use client'
import { Button, NativeSelect, Radio, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { CircleX, ListTree } from 'lucide-react'
import { useId } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { DurationInput } from '@/app/_ui/duration-input'
import { FailureCode } from '@/app/_ui/error-code'
import { ErrorState } from '@/app/_ui/error-state'
import { Notice } from '@/app/_ui/notice'
import type { JsonObject } from '@/server/definition/json'
import { errorAt } from '../../_versioned/field-errors'
import { useSecretNames } from '../../_versioned/use-secret-names'
import styles from '../../_versioned/versioned.module.css'
import type { KindProps } from './kind-props'
import { PairsEditor } from './pairs-editor'
import { configText, textsOf, withField } from './tool-form'

interface Remote {
  name: string
  title: string | null
  description: string
  inputSchema: JsonObject
}

/** The server, its tool, and the part of the response that is the result. */
export function McpFields({
  config,
  onConfig,
  report,
  error,
  readOnly,
  onInputSchema,
}: KindProps & { onInputSchema: (schema: JsonObject) => void }) {
  const id = useId()
  const trpc = useTRPC()
  const names = useSecretNames()
  const list = useMutation(trpc.tools.listRemote.mutationOptions())
  const secrets = names.flatMap((name) => [`\${secrets.${name}}`, `Bearer \${secrets.${name}}`])
  const set = (name: string, value: Parameters<typeof withField>[2]) => onConfig(withField(config, name, value))
  const found = list.data && 'data' in list.data ? ((list.data.data as { tools?: Remote[] } | null)?.tools ?? []) : null
  const failure = list.data && 'error' in list.data ? list.data.error : null
  const toolName = configText(config, 'toolName')
  const { url, headers, timeoutMs } = config
  return (
    <section className={styles.group} aria-labelledby={id}>
      <h2 id={id}>MCP server</h2>
      <TextInput
        label="URL"
        required
        description="Its streamable HTTP endpoint"
        placeholder={readOnly ? 'None' : 'https://mcp.example.com/mcp'}
        value={configText(config, 'url')}
        readOnly={readOnly}
        onChange={(event) => set('url', event.currentTarget.value)}
        error={errorAt(error, 'config.url') ?? errorAt(list.error, 'url')}
      />
      <PairsEditor
        label="Headers"
        one="header"
        value={textsOf(config, 'headers')}
        onChange={(value) => set('headers', value)}
        onProblem={(problem) => report('headers', problem)}
        suggestions={secrets}
        error={errorAt(error, 'config.headers') ?? errorAt(list.error, 'headers')}
        readOnly={readOnly}
      />
      <div className={styles.pair}>
        <TextInput
          label="Tool on the server"
          required
          value={toolName}
          readOnly={readOnly}
          onChange={(event) => set('toolName', event.currentTarget.value)}
          error={errorAt(error, 'config.toolName')}
        />
        <NativeSelect
          label="Result"
          data={[
            { value: 'auto', label: 'Structured content, or else the text' },
            { value: 'full', label: 'The whole answer' },
          ]}
          value={configText(config, 'result') || 'auto'}
          disabled={readOnly}
          onChange={(event) => set('result', event.currentTarget.value)}
          error={errorAt(error, 'config.result')}
        />
        <DurationInput
          id={`${id}-limit`}
          label="Time limit"
          placeholder="30"
          value={typeof timeoutMs === 'number' ? timeoutMs : undefined}
          readOnly={readOnly}
          onChange={(ms) => set('timeoutMs', ms)}
          problem={errorAt(error, 'config.timeoutMs')}
        />
      </div>
      {!readOnly && (
        <div>
          <Button
            variant="default"
            leftSection={<ListTree size={16} aria-hidden />}
            loading={list.isPending}
            onClick={() =>
              list.mutate({
                url: url ?? '',
                ...(headers === undefined ? {} : { headers }),
                ...(timeoutMs === undefined ? {} : { timeoutMs }),
              })
            }
          >
            List the server’s tools
          </Button>
        </div>
      )}
      {list.error && <ErrorState error={list.error} title="The tools could not be listed" />}
      {failure && (
        <Notice tone="bad" icon={CircleX} title={<FailureCode code={failure.code} />}>
          {failure.message}
        </Notice>
      )}
      {found && found.length === 0 && <span className={styles.note}>The server has no tools.</span>}
      {found && found.length > 0 && (
        <Radio.Group
          label={`Tools of the server (${found.length})`}
          description="Choosing one copies its input schema"
          value={toolName}
          onChange={(name) => {
            const chosen = found.find((remote) => remote.name === name)
            set('toolName', name)
            if (chosen) onInputSchema(chosen.inputSchema)
          }}
        >
          <div className={styles.remotes}>
            {found.map(({ name, title, description }) => (
              <Radio key={name} value={name} label={title ? `${title} (${name})` : name} description={description} />
            ))}
          </div>
        </Radio.Group>
      )}
    </section>
  )
}
