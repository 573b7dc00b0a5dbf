import { Skeleton } from '@mantine/core'
import { PageBody } from '@/app/_ui/page-body'
import { LoadingHeader } from '../../loading-header'

export default function Loading() {
  return (
    <>
      <LoadingHeader here="versions" />
      <PageBody>
        <Skeleton height={240} radius="md" />
      </PageBody>
    </>
  )
}
