use super::*;

fn typescript(source: &str) -> String {
    read(ScriptLanguage::TypeScript, source).unwrap_or_else(|faults| panic!("{source}: {faults:?}"))
}

/// The same without what stands for types: white space, and the signs that end statements.
#[track_caller]
fn becomes(source: &str, wanted: &str) {
    let whole = format!("{source}\nexport default 1;");
    let text = typescript(&whole);
    assert_eq!(text.len(), whole.len(), "{source}");
    assert_eq!(text.matches('\n').count(), whole.matches('\n').count(), "{source}");
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(
        squeezed(text.strip_suffix("export default 1;").unwrap_or(&text)),
        squeezed(wanted),
        "{source}"
    );
}

#[test]
fn types_are_left_out_and_everything_stays_in_its_place() {
    becomes("const a: number = 1;", "const a = 1;");
    becomes("let a!: string;", "let a ;");
    becomes(
        "function f<T>(a: T, b?: string, ...c: T[]): a is T { return a as T; }",
        "function f (a , b , ...c ) { return a ; }",
    );
    becomes("const f = async <T,>(a: T): Promise<T> => a!;", "const f = async (a ) => a ;");
    becomes("const f = (a: number): {\n x: 1\n} => ({ x: 1 });", "const f = (a ) => ({ x: 1 });");
    becomes("interface A { a: string }\ntype B = A | null;", "; ;");
    becomes("let a = 1\ntype B = string\n(a)", "let a = 1 ; (a)");
    becomes("let a = b as any\n(c)", "let a = b ; (c)");
    becomes("f<string>(x satisfies Y, <any>z, new Map<string, number>());", "f (x , z, new Map ());");
    becomes("for (const a of b as any[]) { g(a as X) }", "for (const a of b ) { g(a ) }");
    becomes("for (let i: number = 0 as any; i < 2; i++) {}", "for (let i = 0 ; i < 2; i++) {}");
    becomes(
        "declare const a: number;\ndeclare function f(): void;\nfunction g(a: string): void;\nfunction g(a: any) {}",
        "; ; ; function g(a ) {}",
    );
    becomes("function f(this: Window, a: number) {}", "function f( a ) {}");
    becomes("export type { A } from './a';\nimport type B from 'b';\nexport interface C {}", "; ; ;");
    becomes("const a = { b: 1 };\nexport { a, type D };", "const a = { b: 1 }; export { a, };");
    becomes("try {} catch (e: unknown) { (e as Error).message }", "try {} catch (e ) { (e ).message }");
    becomes(
        "enumerate;\nconst type = 1; const as = type as number;",
        "enumerate; const type = 1; const as = type ;",
    );
}

#[test]
fn classes_keep_what_runs() {
    becomes(
        "abstract class A<T> extends B<T> implements C, D {\n private readonly a: string = 'x'\n static b?: number\n declare c: string;\n \
         abstract d(): void;\n protected override async e?(x: T): Promise<void> {}\n [key: string]: any;\n get f(): number { return 1 }\n #g!: T\n}",
        "class A extends B { a = 'x' static b ; ; ; async e (x ) {} ; get f() { return 1 } #g ; }",
    );
}

#[test]
fn what_makes_code_of_its_own_is_told_with_its_line() {
    let source = "\nenum A { B }\nnamespace N { export const a = 1 }\nclass C { constructor(private a: string) {} }\nexport default 1;";
    let faults = read(ScriptLanguage::TypeScript, source).unwrap_err();
    let lines: Vec<_> = faults
        .iter()
        .map(|fault| matches!(fault, ScriptFault::Syntax { line, .. } if (2..=4).contains(line)))
        .collect();
    assert_eq!(lines, [true, true, true], "{faults:?}");
    assert!(read(ScriptLanguage::TypeScript, "declare enum A { B }\nexport default 1").is_ok());
}

#[test]
fn faults_are_told_all_at_once_with_their_lines() {
    let faults = read(ScriptLanguage::JavaScript, "import a from 'a';\n\nimport b from 'b';").unwrap_err();
    assert_eq!(faults.len(), 3, "{faults:?}");
    let why = "`import` and `include` are not supported".to_owned();
    assert_eq!(faults[1], ScriptFault::Syntax { line: 3, column: 1, why });
    assert_eq!(faults[2], ScriptFault::NoExport);
    let faults = read(ScriptLanguage::JavaScript, "export default () => {\n  return 1 +;\n}").unwrap_err();
    assert!(matches!(&faults[..], [ScriptFault::Syntax { line: 2, column: 13, .. }]), "{faults:?}");
    let behind_umlauts = read(ScriptLanguage::JavaScript, "export default () => 'äöü' +;").unwrap_err();
    assert!(
        matches!(&behind_umlauts[..], [ScriptFault::Syntax { line: 1, column: 29, .. }]),
        "{behind_umlauts:?}"
    );
    assert!(read(ScriptLanguage::JavaScript, "const a: number = 1; export default a").is_err());
    assert!(read(ScriptLanguage::JavaScript, "const f = () => 1; export { f as default };").is_ok());
}
