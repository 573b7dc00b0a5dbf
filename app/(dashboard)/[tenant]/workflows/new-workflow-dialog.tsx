'use client'
import { Button, Radio, SegmentedControl, Stack, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { type FormEvent, useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { Dialog, DialogButtons } from '@/app/_ui/dialog'
import { ErrorState } from '@/app/_ui/error-state'
import { useTenant } from '../tenant-context'
import { ImportField } from './import-field'
import { type Imported, readImport } from './read-import'

const BLANK = 'blank'

/** Creates a workflow (blank, from a sample or from JSON) and opens the editor. */
export function NewWorkflowDialog({ begin, onClose }: { begin: 'blank' | 'import'; onClose: () => void }) {
  const trpc = useTRPC()
  const router = useRouter()
  const { path } = useTenant()
  const [way, setWay] = useState<string>(begin)
  const [name, setName] = useState('')
  const [sample, setSample] = useState(BLANK)
  const [text, setText] = useState('')
  const [problem, setProblem] = useState<string | null>(null)
  const samples = useQuery({ ...trpc.workflows.samples.queryOptions(), staleTime: Number.POSITIVE_INFINITY })
  const open = { onSuccess: ({ id }: { id: string }) => router.push(path(`/workflows/${id}`)) }
  const create = useMutation(trpc.workflows.create.mutationOptions(open))
  const fromSample = useMutation(trpc.workflows.createFromSample.mutationOptions(open))
  const error = create.error ?? fromSample.error
  const busy = create.isPending || create.isSuccess || fromSample.isPending || fromSample.isSuccess

  function submit(event: FormEvent) {
    event.preventDefault()
    create.reset()
    fromSample.reset()
    if (way === 'import') return sendImport(readImport(text))
    setProblem(null)
    if (sample === BLANK) create.mutate({ name })
    else fromSample.mutate({ sampleId: sample, name })
  }
  function sendImport(read: Imported) {
    setProblem('problem' in read ? read.problem : null)
    if ('body' in read) create.mutate(name.trim() ? { ...read.body, name } : read.body)
  }
  return (
    <Dialog onClose={onClose} title="New workflow" size="lg">
      <form onSubmit={submit} noValidate>
        <Stack>
          <SegmentedControl
            aria-label="How to begin"
            data={[
              { value: 'blank', label: 'Blank or sample' },
              { value: 'import', label: 'Import JSON' },
            ]}
            value={way}
            onChange={(next) => {
              setWay(next)
              setProblem(null)
            }}
          />
          <TextInput
            label="Name"
            description={way === 'import' ? 'Leave empty to keep the name in the JSON' : undefined}
            placeholder="Order approval"
            withAsterisk={way !== 'import'}
            maxLength={200}
            autoComplete="off"
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            data-autofocus
          />
          {way === 'import' ? (
            <ImportField text={text} onChange={setText} problem={problem} />
          ) : (
            <Radio.Group label="Start with" value={sample} onChange={setSample}>
              <Stack gap="xs" mt="xs">
                <Radio value={BLANK} label="An empty canvas" />
                {(samples.data ?? []).map(({ id, name, description }) => (
                  <Radio key={id} value={id} label={`Sample: ${name}`} description={description} />
                ))}
              </Stack>
            </Radio.Group>
          )}
          {error && <ErrorState error={error} title="The workflow was not created" />}
          <DialogButtons>
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={busy} disabled={way === 'import' ? !text.trim() : !name.trim()}>
              {way === 'import' ? 'Import and open' : 'Create and open'}
            </Button>
          </DialogButtons>
        </Stack>
      </form>
    </Dialog>
  )
}
