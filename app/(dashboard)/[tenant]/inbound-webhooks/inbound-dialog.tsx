'use client'
import { Alert, Button, Group, NativeSelect, PasswordInput, Stack, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { TriangleAlert } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { errorOf, useTRPC } from '@/app/_trpc/client'
import { Dialog, DialogButtons } from '@/app/_ui/dialog'
import { ErrorState } from '@/app/_ui/error-state'
import { underField } from '@/app/_ui/sentence'
import { SCHEMES, type Scheme } from '@/server/definition/inbound'
import type { InboundItem } from '@/server/views/inbound/browse'
import { flushFields } from '../workflows/[id]/draft/use-committed'
import { ExpressionInput } from '../workflows/[id]/widgets/expression-input'
import { WorkflowSelect } from '../workflows/workflow-select'
import { InboundScope } from './inbound-scope'
import { MappingFields } from './mapping-fields'
import { SCHEME_LABELS, SECRET_HELP } from './schemes'

export function InboundDialog(props: {
  webhook: InboundItem | null
  onClose: () => void
  /** With the secret, if one was generated. */
  onCreated: (made: { id: string; name: string; secret: string | null }) => void
}) {
  const { webhook, onClose, onCreated } = props
  const trpc = useTRPC()
  const queries = useQueryClient()
  const [workflowId, setWorkflowId] = useState(webhook?.workflowId ?? '')
  const [name, setName] = useState(webhook?.name ?? '')
  const [scheme, setScheme] = useState<Scheme | ''>(webhook?.scheme ?? '')
  const [header, setHeader] = useState(webhook?.signatureHeader ?? '')
  const [encoding, setEncoding] = useState<'hex' | 'base64'>(webhook?.encoding ?? 'hex')
  const [idHeader, setIdHeader] = useState(webhook?.idHeader ?? '')
  const [secret, setSecret] = useState('')
  const [mapping, setMapping] = useState<Record<string, string>>(webhook?.mapping ?? {})
  const [when, setWhen] = useState(webhook?.when ?? '')
  const changed = () => queries.invalidateQueries(trpc.inbound.pathFilter())
  const create = useMutation(
    trpc.inbound.create.mutationOptions({
      onSuccess: async (made) => {
        await changed()
        onCreated(made)
      },
    }),
  )
  const update = useMutation(
    trpc.inbound.update.mutationOptions({
      onSuccess: async () => {
        await changed()
        onClose()
      },
    }),
  )
  const { error, isPending } = webhook ? update : create
  const details = error ? errorOf(error).details : []
  const problem = (path: string) => details.find((detail) => detail.path === path)?.message
  const alone = (path: string) => underField(problem(path) ?? '') || null
  const ready = workflowId && name.trim() && scheme && (scheme !== 'hmac' || header.trim())
  function submit(event: FormEvent) {
    event.preventDefault()
    if (!scheme) return
    const body = {
      ...{ name, scheme, signatureHeader: header.trim() || null, encoding, idHeader: idHeader.trim() || null },
      mapping: Object.fromEntries(Object.entries(mapping).filter(([, text]) => text.trim() !== '')),
      when: when.trim() || null,
    }
    if (webhook) update.mutate({ workflowId, inboundId: webhook.id, body })
    else create.mutate({ workflowId, body: { ...body, ...(secret && scheme !== 'none' ? { secret } : {}) } })
  }
  return (
    <Dialog onClose={onClose} title={webhook ? `Edit “${webhook.name}”` : 'New inbound webhook'} size="lg">
      <InboundScope workflowId={workflowId} webhook={webhook}>
        <form
          onSubmit={submit}
          // Enter submits from within a field, which may not have reported its latest text yet.
          onKeyDownCapture={(event) => event.key === 'Enter' && flushFields()}
          noValidate
        >
          <Stack>
            {!webhook && <WorkflowSelect value={workflowId} onChange={setWorkflowId} />}
            <TextInput
              label="Name"
              placeholder="Opened issues"
              withAsterisk
              maxLength={200}
              autoComplete="off"
              error={alone('name')}
              value={name}
              onChange={(event) => setName(event.currentTarget.value)}
            />
            <NativeSelect
              label="How the sender signs"
              withAsterisk
              error={alone('scheme')}
              data={[
                { value: '', label: 'Choose' },
                ...SCHEMES.map((value) => ({ value, label: SCHEME_LABELS[value] })),
              ]}
              value={scheme}
              onChange={(event) => setScheme(SCHEMES.find((one) => one === event.currentTarget.value) ?? '')}
            />
            {scheme === 'none' && (
              <Alert color="yellow" variant="light" icon={<TriangleAlert size={18} aria-hidden />}>
                Anybody who knows the address can start runs with any values. Choose this only for a sender that cannot
                sign.
              </Alert>
            )}
            {scheme === 'hmac' && (
              <Group grow align="start">
                <TextInput
                  label="Signature header"
                  placeholder="X-Signature"
                  withAsterisk
                  autoComplete="off"
                  error={alone('signatureHeader')}
                  value={header}
                  onChange={(event) => setHeader(event.currentTarget.value)}
                />
                <NativeSelect
                  label="Encoding"
                  data={['hex', 'base64']}
                  value={encoding}
                  onChange={(event) => setEncoding(event.currentTarget.value === 'base64' ? 'base64' : 'hex')}
                />
              </Group>
            )}
            {(scheme === 'hmac' || scheme === 'none') && (
              <TextInput
                label="Header with the id of a delivery"
                description="Without one, equal deliveries within five minutes count as one"
                placeholder="X-Delivery-Id"
                autoComplete="off"
                error={alone('idHeader')}
                value={idHeader}
                onChange={(event) => setIdHeader(event.currentTarget.value)}
              />
            )}
            {!webhook && scheme !== '' && scheme !== 'none' && (
              <PasswordInput
                label="Secret of the sender"
                description={SECRET_HELP[scheme]}
                autoComplete="off"
                error={problem('secret') && `The secret ${problem('secret')}`}
                value={secret}
                onChange={(event) => setSecret(event.currentTarget.value)}
              />
            )}
            {workflowId && (
              <MappingFields workflowId={workflowId} mapping={mapping} onChange={setMapping} problem={problem} />
            )}
            <ExpressionInput
              name="Only if"
              label="Only if"
              description="Starts a run only if this is true"
              placeholder={'${body.action} == "opened"'}
              error={alone('when')}
              value={when}
              onChange={setWhen}
              readOnly={false}
            />
            {error && details.length === 0 && <ErrorState error={error} title="The inbound webhook was not saved" />}
            <DialogButtons>
              <Button variant="default" onClick={onClose}>
                Cancel
              </Button>
              <Button type="submit" loading={isPending} disabled={!ready}>
                {webhook ? 'Save' : 'Create inbound webhook'}
              </Button>
            </DialogButtons>
          </Stack>
        </form>
      </InboundScope>
    </Dialog>
  )
}
