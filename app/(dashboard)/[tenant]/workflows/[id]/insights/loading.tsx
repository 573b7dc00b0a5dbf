import { Skeleton } from '@mantine/core'
import { PageBody } from '@/app/_ui/page-body'
import { LoadingHeader } from '../../loading-header'

export default function Loading() {
  return (
    <>
      <LoadingHeader here="insights" />
      <PageBody>
        <Skeleton height={96} radius="md" />
        <Skeleton height={220} radius="md" mt="md" />
      </PageBody>
    </>
  )
}
