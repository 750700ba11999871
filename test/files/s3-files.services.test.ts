import { describeWith } from '../support/with-services.ts';
import { testFileHome } from './file-contract.ts';
import { startS3Home } from './s3-home.ts';
import { testWrittenFiles } from './written-files-contract.ts';

describeWith(['s3'], 'files in an S3 store', () => {
  testFileHome('links of S3', startS3Home);
  testWrittenFiles('files in S3', startS3Home);
});
