'use client'
import { Button, Chip, Group, Input, List, Stack, Textarea } from '@mantine/core'
import { TriangleAlert } from 'lucide-react'
import { useMemo, useState } from 'react'
import { Dialog, DialogButtons } from '@/app/_ui/dialog'
import { ErrorState } from '@/app/_ui/error-state'
import { Notice } from '@/app/_ui/notice'
import type { JsonObject } from '@/server/definition/json'
import { type CallValue, valuesOf, withValues } from './curl-arguments'
import { CurlSecrets, useKeptSecrets } from './curl-secret-fields'
import { importCurl } from './import-curl'
import type { ImportedCall } from './imported-call'

export interface Imported {
  call: ImportedCall
  /** The JSON Schemas of the arguments that values were made into. */
  types: JsonObject
}

interface Props {
  onClose: () => void
  onImport: (imported: Imported) => void
  /** What happens to the present request. */
  says?: string
  action?: string
}

/** Imports a curl command without running it. Its secrets go into the vault. */
export function ImportDialog({ opened, ...props }: Props & { opened: boolean }) {
  return (
    <Dialog opened={opened} onClose={props.onClose} title="Import curl" size="lg">
      <ImportForm {...props} />
    </Dialog>
  )
}

function ImportForm(props: Props) {
  const { onClose, onImport, says = 'This replaces the request above.', action = 'Replace request' } = props
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState<string[]>([])
  const read = useMemo(() => (text.trim() === '' ? null : tryImport(text)), [text])
  const imported = read && 'call' in read ? read : null
  const values = useMemo(() => (imported ? valuesOf(imported.call) : []), [imported])
  const secrets = useKeptSecrets(imported)

  async function finish() {
    if (!imported) return
    const call = await secrets.keep(imported.call)
    if (!call) return
    onImport(
      withValues(
        call,
        values.filter(({ key }) => chosen.includes(key)),
      ),
    )
    onClose()
  }

  return (
    <Stack>
      <Textarea
        label="Command"
        description={`${says} Nothing is sent.`}
        placeholder="curl -s -X POST https://api.example.com/orders -H 'content-type: application/json' -d '{}'"
        autosize
        minRows={6}
        maxRows={16}
        data-autofocus
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value)
          setChosen([])
          secrets.reset()
        }}
        error={read && 'problem' in read ? read.problem : null}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: '0.8125rem' } }}
      />
      {imported && imported.notes.length > 0 && (
        <Notice tone="warning" icon={TriangleAlert} title="Check these">
          <List size="sm">
            {imported.notes.map((note) => (
              <List.Item key={note}>{note}</List.Item>
            ))}
          </List>
        </Notice>
      )}
      {imported && imported.secrets.length > 0 && <CurlSecrets secrets={secrets} />}
      {values.length > 0 && <ValueChips values={values} chosen={chosen} onChange={setChosen} />}
      {secrets.error !== null && <ErrorState error={secrets.error} title="The secret was not saved" />}
      <DialogButtons>
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button disabled={!imported || !secrets.isValid} loading={secrets.busy} onClick={() => void finish()}>
          {action}
        </Button>
      </DialogButtons>
    </Stack>
  )
}

const MAX_SHOWN = 24

function ValueChips(props: { values: CallValue[]; chosen: string[]; onChange: (chosen: string[]) => void }) {
  const { values, chosen, onChange } = props
  const short = (text: string) => (text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text)
  return (
    <Input.Wrapper
      label="Arguments"
      labelElement="div"
      description="Values that differ from call to call. The others stay as they are."
    >
      <Chip.Group multiple value={chosen} onChange={onChange}>
        <Group gap="xs" mt="xs">
          {values.map(({ key, name, value }) => (
            <Chip key={key} value={key} size="xs">
              <span className="mono">{name}</span> {short(typeof value === 'string' ? value : JSON.stringify(value))}
            </Chip>
          ))}
        </Group>
      </Chip.Group>
    </Input.Wrapper>
  )
}

function tryImport(text: string) {
  try {
    return importCurl(text)
  } catch (error) {
    return { problem: error instanceof Error ? error.message : 'This is not a curl command.' }
  }
}
