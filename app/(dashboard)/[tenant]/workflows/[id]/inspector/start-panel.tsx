'use client'
import { Alert, Button, Stack, Text } from '@mantine/core'
import { ClipboardPaste } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useMemo, useState } from 'react'
import { CodeBlock } from '@/app/_ui/code-block'
import { ForDevelopers } from '@/app/_ui/for-developers'
import { loadDialog, WaitingDialog } from '@/app/_ui/part'
import type { Definition, Fields } from '@/server/definition/schema'
import type { Catalog } from '@/server/steps/catalog'
import type { Problem } from '@/server/workflows/check/problem'
import { useOrigin } from '../../../_versioned/curl'
import { useTenant } from '../../../tenant-context'
import { startCurl } from '../../start-curl'
import type { ScreenActions } from '../actions/use-editor-actions'
import { fieldNames, START } from '../model/definition'
import { FieldsEditor } from '../widgets/fields-editor'
import { Connections } from './connections'
import { inferFields } from './infer-fields'
import styles from './inspector.module.css'
import { metadataText } from './start-payload'

const SampleDialog = dynamic(
  () => loadDialog(() => import('@/app/_ui/sample-dialog').then((module) => module.SampleDialog)),
  { ssr: false, loading: WaitingDialog },
)

/** START: its fields and, for developers, a curl command that starts a run and the API's metadata. */
export function StartPanel(props: {
  workflowId: string
  definition: Definition
  catalog: Catalog
  problems: readonly Problem[]
  actions: ScreenActions
  onChange: (fields: Fields) => void
  readOnly: boolean
}) {
  const { workflowId, definition, catalog, problems, actions, onChange, readOnly } = props
  const [pasting, setPasting] = useState(false)
  const { id: tenantId } = useTenant()
  const origin = useOrigin()
  const taken = useMemo(() => fieldNames(definition, catalog, { stepId: START }), [definition, catalog])
  const own = problems.filter(({ stepId, field }) => stepId === undefined && field?.startsWith('payload'))
  return (
    <Stack gap="md">
      <div>
        <h2 className={styles.title} id="inspector-title" tabIndex={-1}>
          START
        </h2>
        <Text size="sm" c="dimmed">
          What a run starts with: people fill in these fields, or a caller sends them. Every step can use them.
        </Text>
      </div>
      {own.map(({ message }) => (
        <Alert key={message} color="red" variant="light" p="xs">
          {message}
        </Alert>
      ))}
      <Stack gap="xs" id="step-field-payload">
        <FieldsEditor
          value={definition.payload}
          onChange={onChange}
          onRename={(from, to) => actions.renameField('#start', null, from, to)}
          taken={taken}
          readOnly={readOnly}
        />
        {!readOnly && (
          <Button
            variant="subtle"
            size="compact-sm"
            style={{ alignSelf: 'start' }}
            leftSection={<ClipboardPaste size={14} aria-hidden />}
            onClick={() => setPasting(true)}
          >
            Paste a sample
          </Button>
        )}
      </Stack>
      <Connections definition={definition} catalog={catalog} stepId="#start" actions={actions} readOnly={readOnly} />
      <ForDevelopers>
        <section className={styles.section} aria-label="Start a run">
          <h3 className={styles.heading}>Start a run</h3>
          <CodeBlock
            label="start command"
            wrap
            text={startCurl({ origin, tenantId, workflowId, fields: definition.payload })}
          />
        </section>
        <section className={styles.section} aria-label="Metadata from the API">
          <h3 className={styles.heading}>Metadata from the API</h3>
          <Text size="xs" c="dimmed" mb="xs">
            GET /api/workflow/metadata/input/{workflowId} returns this once the workflow is published.
          </Text>
          <CodeBlock label="response" text={metadataText(workflowId, definition.payload)} />
        </section>
      </ForDevelopers>
      {pasting && (
        <SampleDialog
          title="Add fields from a sample"
          says="Use one like a caller sends. Fields that already exist stay as they are."
          action="Add fields"
          namesOf={(sample) => Object.keys(inferFields(sample))}
          onSample={(sample) => {
            setPasting(false)
            onChange({ ...inferFields(sample), ...definition.payload })
          }}
          onClose={() => setPasting(false)}
        />
      )}
    </Stack>
  )
}
