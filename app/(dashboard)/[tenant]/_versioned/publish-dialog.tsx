'use client'
import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { CodeDiff } from '@/app/_ui/code-diff'
import { ErrorState } from '@/app/_ui/error-state'
import { pretty } from './json'

/** Compares the version to publish with the one that is published now. */
export function PublishDialog(props: {
  opened: boolean
  onClose: () => void
  noun: 'agent' | 'tool'
  version: number
  /** What is published now: null when nothing is, undefined while it loads. */
  before: { version: number; content: object } | null | undefined
  after: object
  onPublish: () => void
  busy: boolean
  error: unknown
}) {
  const { opened, onClose, noun, version, before, after, onPublish, busy, error } = props
  return (
    <Modal opened={opened} onClose={onClose} title={`Publish version ${version}`} size="xl">
      <Stack>
        <Text size="sm">
          {before
            ? `Callers of the published ${noun} get version ${version} from now on. Version ${before.version} stays in the history.`
            : `Callers of the published ${noun} get version ${version} from now on.`}
        </Text>
        {before && (
          <CodeDiff
            label={`Changes from version ${before.version} to ${version}`}
            before={pretty(before.content)}
            after={pretty(after)}
          />
        )}
        {error !== null && <ErrorState error={error} title={`The ${noun} was not published`} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button onClick={onPublish} loading={busy}>
            Publish version {version}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
