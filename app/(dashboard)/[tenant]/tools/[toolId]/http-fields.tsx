'use client'
import { Button, NativeSelect, TextInput } from '@mantine/core'
import { ClipboardPaste } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useId, useState } from 'react'
import { DurationInput } from '@/app/_ui/duration-input'
import { loadDialog, WaitingDialog } from '@/app/_ui/part'
import type { JsonObject } from '@/server/definition/json'
import { errorAt } from '../../_versioned/field-errors'
import { useSecretNames } from '../../_versioned/use-secret-names'
import styles from '../../_versioned/versioned.module.css'
import { BodyField } from './body-field'
import type { KindProps } from './kind-props'
import { PairsEditor } from './pairs-editor'
import { configText, textsOf, withField } from './tool-form'

// Reads curl commands, which few users have: not part of the page's first load.
const ImportDialog = dynamic(() => loadDialog(() => import('./import-dialog').then((module) => module.ImportDialog)), {
  ssr: false,
  loading: WaitingDialog,
})

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']

/** The request: its target, its content, and the part of the response that is the result. */
export function HttpFields({
  config,
  onConfig,
  onImported,
  report,
  error,
  readOnly,
}: KindProps & { onImported: (config: JsonObject, types: JsonObject) => void }) {
  const id = useId()
  const [importing, setImporting] = useState(false)
  // Counts imports, so that fields with typed text of their own start over.
  const [imports, setImports] = useState(0)
  const names = useSecretNames()
  const secrets = names.flatMap((name) => [`\${secrets.${name}}`, `Bearer \${secrets.${name}}`])
  const method = configText(config, 'method') || 'GET'
  const withBody = method !== 'GET' && method !== 'HEAD'
  const result = configText(config, 'result') || 'json'
  const set = (name: string, value: Parameters<typeof withField>[2]) => onConfig(withField(config, name, value))
  return (
    <section className={styles.group} aria-labelledby={id}>
      <h2 id={id}>Request</h2>
      <span className={styles.note}>
        You can use <code>{'${args.x}'}</code>, <code>{'${dataContext.x}'}</code>, <code>{'${context.x}'}</code> and{' '}
        <code>{'${secrets.NAME}'}</code> from the vault.
      </span>
      <div className={styles.request}>
        <NativeSelect
          label="Method"
          data={METHODS}
          value={method}
          disabled={readOnly}
          onChange={(event) => {
            const next = withField(config, 'method', event.currentTarget.value)
            const bodyless = event.currentTarget.value === 'GET' || event.currentTarget.value === 'HEAD'
            onConfig(bodyless ? withField(next, 'body', undefined) : next)
          }}
          error={errorAt(error, 'config.method')}
        />
        <TextInput
          label="URL"
          required
          placeholder={readOnly ? 'None' : 'https://api.example.com/orders/${args.id}'}
          value={configText(config, 'url')}
          readOnly={readOnly}
          onChange={(event) => set('url', event.currentTarget.value)}
          error={errorAt(error, 'config.url')}
        />
        {!readOnly && (
          <Button
            variant="default"
            leftSection={<ClipboardPaste size={16} aria-hidden />}
            onClick={() => setImporting(true)}
          >
            Import curl
          </Button>
        )}
      </div>
      <PairsEditor
        label="Headers"
        one="header"
        value={textsOf(config, 'headers')}
        onChange={(headers) => set('headers', headers)}
        onProblem={(problem) => report('headers', problem)}
        suggestions={secrets}
        error={errorAt(error, 'config.headers')}
        readOnly={readOnly}
      />
      <PairsEditor
        label="Query"
        one="parameter"
        value={textsOf(config, 'query')}
        onChange={(query) => set('query', query)}
        onProblem={(problem) => report('query', problem)}
        suggestions={secrets}
        error={errorAt(error, 'config.query')}
        readOnly={readOnly}
      />
      {withBody && (
        <BodyField
          key={imports}
          config={config}
          onConfig={onConfig}
          report={report}
          error={error}
          readOnly={readOnly}
        />
      )}
      <div className={styles.pair}>
        <NativeSelect
          label="Result"
          data={[
            { value: 'json', label: 'The response as JSON' },
            { value: 'text', label: 'The response as text' },
            { value: 'full', label: 'Status, headers and body' },
          ]}
          value={result}
          disabled={readOnly}
          onChange={(event) => set('result', event.currentTarget.value)}
          error={errorAt(error, 'config.result')}
        />
        <TextInput
          label="Part of the response"
          placeholder={readOnly ? 'All of it' : 'items[0].id'}
          value={configText(config, 'path')}
          readOnly={readOnly}
          onChange={(event) => set('path', event.currentTarget.value || undefined)}
          error={errorAt(error, 'config.path')}
        />
        <DurationInput
          id={`${id}-limit`}
          label="Time limit"
          placeholder="10"
          value={typeof config.timeoutMs === 'number' ? config.timeoutMs : undefined}
          readOnly={readOnly}
          onChange={(ms) => set('timeoutMs', ms)}
          problem={errorAt(error, 'config.timeoutMs')}
        />
      </div>
      <ImportDialog
        opened={importing}
        onClose={() => setImporting(false)}
        onImport={({ call, types }) => {
          const { body: _body, path: _path, query: _query, ...rest } = config
          setImports((now) => now + 1)
          report('body', null)
          onImported({ ...rest, ...call }, types)
        }}
      />
    </section>
  )
}
