//! From a function with attributes to a tool that registers itself.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Attribute, Error, Expr, ExprLit, FnArg, ItemFn, Lit, LitStr, Meta, Result, spanned::Spanned};

use crate::attributes::{Attributes, SectionAttribute};

/// The function itself comes first in any case, so that a wrong attribute does not also make every
/// use of the function an error.
pub(crate) fn tool(attributes: TokenStream, item: TokenStream) -> TokenStream {
    let registration = registration(attributes, item.clone()).unwrap_or_else(Error::into_compile_error);
    quote! { #item #registration }
}

fn registration(attributes: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let attributes: Attributes = syn::parse2(attributes)?;
    let function: ItemFn = syn::parse2(item).map_err(|error| {
        Error::new(error.span(), format!("`#[tool]` stands on an async function: {error}"))
    })?;
    check_signature(&function, attributes.more.input_less)?;
    let description = description(&function)?;
    Ok(expansion(&attributes, &function, &description))
}

fn check_signature(function: &ItemFn, input_less: bool) -> Result<()> {
    let signature = &function.sig;
    let refuse = |at: Span, problem: &str| Err(Error::new(at, problem));
    if signature.asyncness.is_none() {
        return refuse(signature.fn_token.span(), "the function of a tool must be `async`");
    }
    if !signature.generics.params.is_empty() {
        return refuse(signature.generics.span(), "the function of a tool must not have generic parameters");
    }
    if let Some(FnArg::Receiver(receiver)) = signature.inputs.first() {
        return refuse(receiver.span(), "a tool is a free function: it has no `self`");
    }
    match (signature.inputs.len(), input_less) {
        (2, false) | (1, true) => Ok(()),
        (1, false) => refuse(
            signature.ident.span(),
            "the function of a tool takes `(cx: ToolContext, input: Input)`; \
             if there is nothing to put in, add `input_less`",
        ),
        (_, false) => {
            refuse(signature.ident.span(), "the function of a tool takes `(cx: ToolContext, input: Input)`")
        }
        (_, true) => {
            refuse(signature.ident.span(), "the function of an `input_less` tool takes `(cx: ToolContext)`")
        }
    }
}

/// The doc comment as one text: lines of a paragraph are joined, paragraphs and list items are not.
fn description(function: &ItemFn) -> Result<String> {
    let mut text = String::new();
    let mut gap = "";
    for line in function.attrs.iter().filter_map(doc_line) {
        for line in line.split('\n').map(str::trim) {
            if line.is_empty() {
                gap = "\n\n";
                continue;
            }
            let separator = match () {
                () if text.is_empty() => "",
                () if !gap.is_empty() => gap,
                () if line.starts_with("- ") || line.starts_with("* ") => "\n",
                () => " ",
            };
            text.push_str(separator);
            text.push_str(line);
            gap = "";
        }
    }
    if text.is_empty() {
        let problem = "a tool needs a description: write a doc comment that says what it does, \
                       when to use it and what to use instead";
        return Err(Error::new(function.sig.ident.span(), problem));
    }
    Ok(text)
}

fn doc_line(attribute: &Attribute) -> Option<String> {
    match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}

fn expansion(attributes: &Attributes, function: &ItemFn, description: &str) -> TokenStream {
    let ident = &function.sig.ident;
    let conditions = function.attrs.iter().filter(|attribute| attribute.path().is_ident("cfg"));
    let declaration = declaration(attributes, description);
    let more = &attributes.more;
    let (input_less, callable, builtin, calls) = (more.input_less, more.callable, more.builtin, more.calls);
    let settings: &[LitStr] = &more.settings;
    let aggregate = option(attributes.more.aggregate.as_ref().map(|path| quote!(#path)));
    let (define, run) = if input_less {
        (quote!(define_input_less), quote!(run_input_less))
    } else {
        (quote!(define), quote!(run))
    };
    // What the compiler has to say about the types of the function is said at its name.
    let define = quote_spanned!(ident.span()=> ::toolwright_sdk::__private::#define(&DECLARED, #ident));
    let run = quote_spanned!(ident.span()=> ::toolwright_sdk::__private::#run(&DECLARED, cx, input, #ident));
    quote! {
        #(#conditions)*
        const _: () = {
            static DECLARED: ::toolwright_sdk::__private::Declaration = #declaration;

            fn define() -> ::toolwright_sdk::__private::ToolDef {
                #define
            }

            fn run(
                cx: ::toolwright_sdk::ToolContext,
                input: ::toolwright_sdk::__private::serde_json::Value,
            ) -> ::toolwright_sdk::BoxFuture<
                'static,
                ::core::result::Result<::toolwright_sdk::ToolResult, ::toolwright_sdk::ToolFailure>,
            > {
                #run
            }

            ::toolwright_sdk::__private::inventory::submit! {
                ::toolwright_sdk::CodeTool {
                    location: ::toolwright_sdk::Location {
                        file: ::core::file!(),
                        line: ::core::line!(),
                    },
                    define,
                    run,
                    aggregate: #aggregate,
                    input_less: #input_less,
                    callable: #callable,
                    builtin: #builtin,
                    calls: #calls,
                    settings: &[#(#settings),*],
                }
            }
        };
    }
}

fn declaration(attributes: &Attributes, description: &str) -> TokenStream {
    let Attributes { slug, name, category, icon, version, level, more } = attributes;
    let level = variant("Level", level);
    let policy = option(more.policy.map(|word| variant("Policy", word)));
    let required_permission = option(more.required_permission.as_ref().map(|name| quote!(#name)));
    let concurrency_group = option(more.concurrency_group.as_ref().map(|name| quote!(#name)));
    let visible = option(more.visible.map(|value| quote!(#value)));
    let open_world = option(more.open_world.map(|value| quote!(#value)));
    let timeout_ms = option(more.timeout_ms.map(|value| quote!(#value)));
    let max_concurrency = option(more.max_concurrency.map(|value| quote!(#value)));
    let sections = more.sections.iter().map(section);
    let form = option(more.form.as_ref().map(|file| quote!(::core::include_str!(#file))));
    let texts = more.texts.iter().map(|(language, file)| quote!((#language, ::core::include_str!(#file))));
    let (tags, tenants): (&[LitStr], &[LitStr]) = (&more.tags, &more.tenants);
    let aliases: &[LitStr] = &more.aliases;
    let (opt_in, collaborative, is_async, pure) = (more.opt_in, more.collaborative, more.is_async, more.pure);
    quote! {
        ::toolwright_sdk::__private::Declaration {
            location: ::toolwright_sdk::Location { file: ::core::file!(), line: ::core::line!() },
            slug: #slug,
            name: #name,
            description: #description,
            category: #category,
            icon: #icon,
            tags: &[#(#tags),*],
            aliases: &[#(#aliases),*],
            version: #version,
            level: #level,
            policy: #policy,
            required_permission: #required_permission,
            tenants: &[#(#tenants),*],
            opt_in: #opt_in,
            sections: &[#(#sections),*],
            form: #form,
            texts: &[#(#texts),*],
            collaborative: #collaborative,
            visible: #visible,
            is_async: #is_async,
            timeout_ms: #timeout_ms,
            pure: #pure,
            open_world: #open_world,
            concurrency_group: #concurrency_group,
            max_concurrency: #max_concurrency,
        }
    }
}

fn section(section: &SectionAttribute) -> TokenStream {
    let SectionAttribute { key, label, kind, config } = section;
    let kind = variant("SectionKind", kind);
    let config = option(config.as_ref().map(|text| quote!(#text)));
    quote! {
        ::toolwright_sdk::__private::Section { key: #key, label: #label, kind: #kind, config: #config }
    }
}

fn variant(of: &str, name: &str) -> TokenStream {
    let (of, name) = (Ident::new(of, Span::call_site()), Ident::new(name, Span::call_site()));
    quote!(::toolwright_sdk::__private::#of::#name)
}

fn option(value: Option<TokenStream>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    fn attributes(more: &str) -> TokenStream {
        let needed = r#"slug = "text.word_count", name = "Word count", category = "text", icon = "text",
            version = "1.0.0", level = "read""#;
        format!("{needed}, {more}").parse().unwrap()
    }

    #[track_caller]
    fn refused(more: &str, item: TokenStream) -> String {
        registration(attributes(more), item).unwrap_err().to_string()
    }

    #[test]
    fn description_joins_lines_and_keeps_paragraphs_and_lists() {
        let function: ItemFn = parse_quote! {
            /// Counts words
            /// and lines.
            ///
            /// Use it for
            /// - letters
            /// - reports
            ///
            ///
            /// Not for files.
            async fn count() {}
        };
        assert_eq!(
            description(&function).unwrap(),
            "Counts words and lines.\n\nUse it for\n- letters\n- reports\n\nNot for files."
        );
    }

    #[test]
    fn function_without_a_doc_comment_is_refused() {
        let problem = refused(
            "",
            quote!(
                async fn count(cx: ToolContext, input: Input) -> R {}
            ),
        );
        assert!(problem.starts_with("a tool needs a description"), "{problem}");
    }

    #[test]
    fn function_of_another_shape_is_refused() {
        let shapes = [
            (
                "",
                quote!(
                    struct Count;
                ),
                "`#[tool]` stands on an async function",
            ),
            (
                "",
                quote!(
                    fn count(cx: ToolContext, input: Input) {}
                ),
                "the function of a tool must be `async`",
            ),
            (
                "",
                quote!(
                    async fn count<T>(cx: ToolContext, input: T) {}
                ),
                "the function of a tool must not have gen",
            ),
            (
                "",
                quote!(
                    async fn count(&self, input: Input) {}
                ),
                "a tool is a free function",
            ),
            (
                "",
                quote!(
                    async fn count(cx: ToolContext) {}
                ),
                "the function of a tool takes `(cx: ToolContext, i",
            ),
            (
                "",
                quote!(
                    async fn count(a: A, b: B, c: C) {}
                ),
                "the function of a tool takes",
            ),
            (
                "input_less",
                quote!(
                    async fn count(a: A, b: B) {}
                ),
                "the function of an `input_less` tool",
            ),
        ];
        for (more, item, expected) in shapes {
            let problem = refused(more, item);
            assert!(problem.starts_with(expected), "{problem}");
        }
    }

    #[test]
    fn wrong_tool_keeps_its_function_and_says_what_is_wrong() {
        let expanded = tool(
            attributes("colour = 3"),
            quote!(
                async fn count() {}
            ),
        )
        .to_string();
        assert!(expanded.starts_with("async fn count ()"), "{expanded}");
        assert!(expanded.contains("compile_error") && expanded.contains("a tool has no attribute `colour`"));
    }

    #[test]
    fn tool_that_is_compiled_on_a_condition_registers_on_the_same_condition() {
        let item = quote! {
            /// Counts.
            #[cfg(unix)]
            async fn count(cx: ToolContext, input: Input) -> R {}
        };
        let expanded = registration(attributes(""), item).unwrap().to_string();
        assert!(expanded.starts_with("# [cfg (unix)] const _ : () ="), "{expanded}");
    }
}
