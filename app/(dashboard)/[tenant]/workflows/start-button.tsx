'use client'
import { Button, Stack, Text } from '@mantine/core'
import { CirclePlay } from 'lucide-react'
import { useState } from 'react'
import { Dialog, DialogButtons } from '@/app/_ui/dialog'
import { useTenant } from '../tenant-context'
import { RunDialog } from './lazy-run-dialog'
import type { Startable } from './run-dialog'

/** Starts a workflow's published version, for the roles that may, or says that none exists. */
export function StartButton({
  workflow,
  unpublished,
  pending = false,
  primary = false,
}: {
  workflow: Startable
  /** How many changes of the draft are not published. */
  unpublished?: number | undefined
  /** The published version is not known yet. */
  pending?: boolean
  primary?: boolean
}) {
  const { may } = useTenant()
  const [asked, setAsked] = useState(false)
  if (!may('run:start')) return null
  const close = () => setAsked(false)
  return (
    <>
      <Button
        variant={primary ? 'filled' : 'default'}
        leftSection={<CirclePlay size={16} aria-hidden />}
        disabled={pending}
        onClick={() => setAsked(true)}
      >
        Start
      </Button>
      {asked &&
        (workflow.publishedNumber === null ? (
          <NotPublished name={workflow.name} onClose={close} />
        ) : (
          <RunDialog workflow={workflow} unpublished={unpublished} onClose={close} />
        ))}
    </>
  )
}

function NotPublished({ name, onClose }: { name: string; onClose: () => void }) {
  const { may } = useTenant()
  return (
    <Dialog onClose={onClose} title={`Start “${name}”`}>
      <Stack>
        <Text size="sm">
          It has no published version yet, so there is nothing to start.{' '}
          {may('workflow:publish') ? 'Publish it first. ' : ''}To try out the draft, use Test run.
        </Text>
        <DialogButtons>
          <Button data-autofocus onClick={onClose}>
            Close
          </Button>
        </DialogButtons>
      </Stack>
    </Dialog>
  )
}
