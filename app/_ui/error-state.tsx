'use client'
import { Alert, Button, Code, Group, List, Text } from '@mantine/core'
import { CircleAlert } from 'lucide-react'
import { errorOf } from '@/app/_trpc/client'
import type { ErrorDetail } from '@/server/errors'
import { ErrorCode } from './error-code'
import { named } from './sentence'

/** An error message with its request id and a retry button. Rows already shown stay visible. */
export function ErrorState(props: {
  error: unknown
  onRetry?: () => void
  title?: string
  /** The text of a detail; by default its message behind its path. */
  textOf?: (detail: ErrorDetail) => string
}) {
  const { error, onRetry, title, textOf = textOfDetail } = props
  const { message, details, requestId, code } = errorOf(error)
  return (
    <Alert
      color="red"
      variant="light"
      icon={<CircleAlert size={18} aria-hidden />}
      title={title ?? message}
      role="alert"
      styles={{ title: { color: 'var(--mantine-color-error)' } }}
    >
      {title && <Text size="sm">{message}</Text>}
      {details.length > 0 && (
        <List size="sm" my="xs">
          {details.slice(0, 20).map((detail, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the list does not change
            <List.Item key={index}>{textOf(detail)}</List.Item>
          ))}
        </List>
      )}
      <Group gap="sm" mt="xs">
        {/* A retry does not find it either, and the role is the same. */}
        {onRetry && code !== 'FORBIDDEN' && !code.endsWith('_NOT_FOUND') && (
          <Button size="compact-sm" variant="default" onClick={onRetry}>
            Try again
          </Button>
        )}
        <Text size="xs" c="dimmed">
          <ErrorCode code={code} />
          {requestId && (
            <>
              {' · request '}
              <Code>{requestId}</Code>
            </>
          )}
        </Text>
      </Group>
    </Alert>
  )
}

function textOfDetail({ path, message }: ErrorDetail): string {
  return named(path, message)
}
