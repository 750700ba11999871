import type { ToolName } from '../../test/tools/tool.ts';

export const sdkLanguages = ['typescript', 'python', 'go'] as const;
export type SdkLanguage = (typeof sdkLanguages)[number];

export const isSdkLanguage = (text: string | undefined): text is SdkLanguage =>
  sdkLanguages.some((language) => language === text);

export const generatorOf: Readonly<Record<SdkLanguage, ToolName>> = {
  typescript: 'openapi-ts',
  python: 'openapi-python-client',
  go: 'oapi-codegen',
};
